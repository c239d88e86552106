module tlsprobe

go 1.26
