package value

import "regexp"

// userinfo finds the user and password of URLs. A password may hold an
// unescaped slash or @ by mistake, so with a colon everything up to the last @
// counts: rather too much hidden than too little.
var userinfo = regexp.MustCompile(`://(?:([^\s/?#@:"]*):[^\s"]*|[^\s/?#@:"]+)@`)

// RedactURLs replaces the password of each URL in s by Stars, and a user
// without a password, which is a token as a rule, as well.
func RedactURLs(s string) string {
	return userinfo.ReplaceAllStringFunc(s, func(m string) string {
		user := userinfo.FindStringSubmatch(m)[1]
		if user == "" {
			return "://" + Stars + "@"
		}
		return "://" + user + ":" + Stars + "@"
	})
}
