import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.node.InternalSettingsPreparer;
import org.elasticsearch.node.Node;
import org.elasticsearch.transport.Netty4Plugin;

/**
 * Runs one Elasticsearch 7.17 node from its Maven jars. Settings come from environment variables with a dot in their name, as
 * in the official image. Those of x-pack and of modules are left out: these jars have none, and an unknown setting stops a node.
 */
public class Launch {
  /** Node's constructor that takes plugins from the class path is protected. */
  static class FromClassPath extends Node {
    FromClassPath(Settings settings) {
      super(
          InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), null, () -> "node"),
          List.of(Netty4Plugin.class),
          true);
    }
  }

  public static void main(String[] args) throws Exception {
    Settings.Builder settings =
        Settings.builder()
            .put("transport.type", "netty4")
            .put("http.type", "netty4")
            .put("path.home", "/opt/server/home")
            .put("path.data", "/var/lib/server")
            .put("network.host", "0.0.0.0");
    for (Map.Entry<String, String> e : System.getenv().entrySet()) {
      String key = e.getKey();
      if (key.contains(".") && !key.startsWith("xpack.") && !key.startsWith("ingest.")) settings.put(key, e.getValue());
    }
    Node node = new FromClassPath(settings.build());
    CountDownLatch closed = new CountDownLatch(1);
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  try {
                    node.close();
                  } catch (Exception e) {
                    e.printStackTrace();
                  }
                  closed.countDown();
                }));
    node.start();
    System.out.println("started");
    closed.await();
  }
}
