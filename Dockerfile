# The image of `homeward`, for all commands. deploy/image/build builds it, with a tag of its version and commit.
# It contains node, what node is linked with, an init and the program: no shell, no package manager.
# No variable: dependabot updates a tag or a digest only here. For another one, `podman build --from IMAGE`.
FROM node:26.10.0-bookworm-slim AS node

FROM node AS program
ARG REVISION=unknown
WORKDIR /build
COPY . .
RUN REVISION="${REVISION}" deploy/assemble /app
COPY deploy/image/healthcheck.mjs /app/
# Compile once here: later the file system is read-only. Node.js uses a compile cache only for the user that wrote it, and lets only
# that one read it, which below is root.
RUN mkdir -p /app/service/node_modules/.cache && chown 1000:1000 /app/service/node_modules/.cache
USER 1000:1000
RUN node /app/service/bin/homeward.mjs openapi >/dev/null && node /app/service/bin/homeward.mjs --help >/dev/null \
  && chmod -R a+r /app/service/node_modules/.cache

FROM node AS system
COPY deploy/image/collect-system /
RUN apt-get update -q && apt-get install -yq --no-install-recommends tini && /collect-system /system

FROM scratch
ARG VERSION=1.0.0
ARG REVISION=unknown
ARG SOURCE=unknown
LABEL org.opencontainers.image.title="Homeward" \
  org.opencontainers.image.description="An animal adoption store as a service" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}" \
  org.opencontainers.image.source="${SOURCE}" \
  org.opencontainers.image.licenses="MIT"
COPY --from=system /system /
# Owned by root: the process can't change its own program, even if the file system is writable.
COPY --from=program --chown=0:0 /app /app
ENV PATH=/usr/local/bin:/usr/bin NODE_ENV=production HOST=0.0.0.0 HOMEWARD_CONSOLE_HOST=0.0.0.0
WORKDIR /app
USER 1000:1000
EXPOSE 8080 8090
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --retries=3 CMD ["node", "/app/healthcheck.mjs"]
# Process 1 ignores signals that it does not handle, and node needs a moment until it does. The init passes them on from the start.
ENTRYPOINT ["tini", "--", "homeward"]
CMD ["serve"]
