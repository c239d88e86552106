package probe

// Where redirects lead.

var reasonRedirectLoop = register(Reason{
	ID:       "redirect_loop",
	Phase:    PhaseRequest,
	Severity: Error,
	Title:    "the redirects lead back to where they began",
	Meaning: "Following the redirects comes back to a request that was already made. Most often TLS ends " +
		"at a load balancer, the backend sees plain http and redirects to https, where the client " +
		"already is.",
	Breaks:    "The whole site: browsers show \"too many redirects\", API clients give up.",
	OtherSide: "The same request over and over, with status 301, 302, 307 or 308.",
	Causes: []string{
		"TLS ends at the load balancer or CDN and the backend does not see or trust X-Forwarded-Proto.",
		"The backend itself redirects to https (Argo CD, an nginx \"return 301 https://...\").",
		"A CDN in \"flexible\" mode fetches over http what the origin redirects to https.",
		"An annotation of another ingress controller, or a ConfigMap change without a restart.",
	},
	Fixes: []string{
		"See the hops: curl -sIL --max-redirs 5 https://HOST/ | grep -iE '^(HTTP|location)'",
		"Does the header stop it? curl -sI -H 'X-Forwarded-Proto: https' http://POD_IP:PORT/",
		"ingress-nginx behind such a load balancer: kubectl -n ingress-nginx patch configmap " +
			"ingress-nginx-controller --type merge -p '{\"data\":{\"use-forwarded-headers\":\"true\"}}'",
		"Or pass TLS through the load balancer (TCP) and end it at the ingress: spec.tls with a Secret",
		"Argo CD: kubectl -n argocd patch configmap argocd-cmd-params-cm --type merge -p " +
			"'{\"data\":{\"server.insecure\":\"true\"}}'; kubectl -n argocd rollout restart deployment/argocd-server",
		"A backend that speaks https itself: annotations nginx.ingress.kubernetes.io/backend-protocol: HTTPS, " +
			"or ssl-passthrough: \"true\" with the controller's --enable-ssl-passthrough",
	},
	Cite: "RFC 9110, Section 15.4",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `stopped after \d+ redirects|\(47\) Maximum|Maximum \(\d+\) redirects followed` +
				`|cURL error 47|TooManyRedirects|Exceeded \d+ redirects|would lead to an infinite loop` +
				`|redirected too many times|redirect count exceeded|\d+ redirections exceeded` +
				`|ERR_TOO_MANY_REDIRECTS|redirect loop|redirection loop|NS_ERROR_REDIRECT_LOOP` +
				`|rewrite or internal redirection cycle|Too many redirects|ERR_FR_TOO_MANY_REDIRECTS` +
				`|max(?:imum)? redirects? (?:reached|exceeded)|Maximum number of redirects` +
				`|CircularRedirectException|Circular redirect`,
			Sample: "curl: (47) Maximum (50) redirects followed",
		},
	},
})

var reasonRedirectLimit = register(Reason{
	ID:        "redirect_limit",
	Phase:     PhaseRequest,
	Severity:  Error,
	Title:     "too many redirects",
	Meaning:   "Each redirect led to a new URL, and the limit was reached before an answer came.",
	Breaks:    "Clients with a limit of their own: browsers stop at 20, Go at 10, curl at 50.",
	OtherSide: "Many requests in a row, each with another path or query.",
	Causes: []string{
		"A path or query grows with each hop (a rewrite rule that matches its own result).",
		"A login service sends the client round for lack of a cookie.",
	},
	Fixes: []string{
		"See the hops: curl -sIL --max-redirs 20 -c /tmp/jar -b /tmp/jar https://HOST/ | grep -iE " +
			"'^(HTTP|location)'",
		"Look at rewrite-target and the application's base URL: kubectl -n NAMESPACE get ingress INGRESS -o " +
			"yaml",
	},
	Cite: "RFC 9110, Section 15.4",
	Logs: []LogPattern{
		{
			Side:    ClientSide,
			Pattern: `\breason=redirect_limit\b`,
			Sample:  "level=WARN msg=\"Target fails\" target=shop reason=redirect_limit",
		},
	},
})

var reasonRedirectDowngrade = register(Reason{
	ID:       "redirect_downgrade",
	Phase:    PhaseRequest,
	Severity: Error,
	Title:    "https redirects to http",
	Meaning: "An https URL answered with a Location that begins with http://. From there on the request is " +
		"in the clear.",
	Breaks:    "Confidentiality: cookies and tokens can be read. Browsers may block it as mixed content.",
	OtherSide: "A plain request follows on port 80.",
	Causes: []string{
		"The application builds absolute URLs from the scheme it sees, which is http behind a proxy that ends " +
			"TLS.",
		"The application's base URL is configured with http.",
	},
	Fixes: []string{
		"See the hops: curl -sIL --max-redirs 5 https://HOST/ | grep -iE '^(HTTP|location)'",
		"Tell the application its scheme: X-Forwarded-Proto trusted by it, or its base URL set to " +
			"https://HOST",
		"ingress-nginx: use-forwarded-headers: \"true\" in the ConfigMap, when a load balancer ends TLS",
	},
	Cite: "RFC 9700, Section 4.12",
	Logs: []LogPattern{
		{
			Side: ClientSide,
			Pattern: `redirect(?:ed|s)? from https to http\b|InsecureRedirect|insecure redirect` +
				`|\breason=redirect_downgrade\b|Mixed Content:[^;]*insecure`,
			Sample: "level=WARN msg=\"Target fails\" target=shop reason=redirect_downgrade",
		},
	},
})

var reasonMissingHTTPSRedirect = register(Reason{
	ID:        "missing_https_redirect",
	Phase:     PhaseRequest,
	Severity:  Error,
	Title:     "plain http is served without a redirect to https",
	Meaning:   "The http:// URL was answered as it is, although the target asks that it lead to https.",
	Breaks:    "Confidentiality: people and programs that come by http stay there.",
	OtherSide: "Plain requests with status 200 in its access log.",
	Causes: []string{
		"No TLS section for this host in the Ingress: controllers redirect only hosts with TLS.",
		"TLS ends at a load balancer which forwards port 80 as well.",
		"ssl-redirect was switched off to get rid of a redirect loop.",
	},
	Fixes: []string{
		"See it: curl -sI http://HOST/",
		"Add the host: kubectl -n NAMESPACE edit ingress INGRESS (spec.tls: [{hosts: [HOST], secretName: " +
			"SECRET}])",
		"ingress-nginx: kubectl -n NAMESPACE annotate ingress INGRESS " +
			"nginx.ingress.kubernetes.io/force-ssl-redirect=true",
		"Or redirect at the load balancer: AWS ALB annotation alb.ingress.kubernetes.io/ssl-redirect: '443'",
	},
	Cite: "RFC 6797, Section 7.2",
	Logs: []LogPattern{
		{
			Side:    ClientSide,
			Pattern: `\breason=missing_https_redirect\b`,
			Sample:  "level=WARN msg=\"Target fails\" target=shop reason=missing_https_redirect",
		},
	},
})
