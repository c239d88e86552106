# The image of tlsprobe: one static binary and the system's CA certificates, no
# shell, an unprivileged numeric user (a Pod needs runAsNonRoot, and nothing of
# its root file system is written).
#
#   docker build --build-arg VERSION=0.1.0 --build-arg REVISION=$(git rev-parse HEAD) -t tlsprobe .
#
# The same sources and arguments give the same binary, byte for byte, in whatever
# folder and on whatever machine it is built: no path, time or host name is in it.

FROM --platform=$BUILDPLATFORM golang:1.26 AS build
ARG TARGETOS TARGETARCH VERSION REVISION
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY cmd cmd
COPY probe probe
COPY exporter exporter
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH \
    go build -trimpath -buildvcs=false -ldflags "-s -w \
      -X github.com/prometheus/common/version.Version=$VERSION \
      -X github.com/prometheus/common/version.Revision=$REVISION" \
    -o tlsprobe ./cmd/tlsprobe

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /src/tlsprobe /tlsprobe
USER 65532:65532
EXPOSE 9790
ENTRYPOINT ["/tlsprobe"]
CMD ["agent", "--config.file=/etc/tlsprobe/config.yaml"]
