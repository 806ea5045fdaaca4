# Penstock's own image: one static binary, certificates and time zones, a user without a name.
#
#   docker build --build-arg VERSION=v1.2.3 -t penstock:v1.2.3 .
#
# Both bases can be replaced where no registry is reachable: BUILD_IMAGE needs Go (and a way to the modules, or a module cache),
# CERTS_IMAGE needs /etc/ssl/certs/ca-certificates.crt. A build behind a proxy takes GOPROXY.
ARG BUILD_IMAGE=golang:1.26
ARG CERTS_IMAGE=${BUILD_IMAGE}

FROM ${CERTS_IMAGE} AS certs

FROM ${BUILD_IMAGE} AS build
ARG GOPROXY
ARG VERSION=unknown
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
# The time zones are inside the binary, so the image needs no zoneinfo.
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false -tags timetzdata -ldflags "-s -w -X main.version=${VERSION}" -o /penstock ./cmd/penstock

FROM scratch
ARG VERSION=unknown
LABEL org.opencontainers.image.title="penstock" \
      org.opencontainers.image.description="Moves log messages from Kafka into Elasticsearch and OpenSearch, and proves that nothing was lost" \
      org.opencontainers.image.version="${VERSION}"
COPY --from=certs /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /penstock /penstock
# A number, so that Kubernetes can see that it is not root.
USER 65532:65532
EXPOSE 8080
ENTRYPOINT ["/penstock"]
CMD ["run"]
