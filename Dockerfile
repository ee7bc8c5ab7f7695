# The README's two steps: the packages, then `npm start`. Node 24 itself is one of the packages.
FROM node:22.21.1-bookworm-slim AS packages
# g++ builds the native packet I/O. Without it Parley runs too, with fewer calls per core.
RUN apt-get update \
  && apt-get install -y --no-install-recommends g++ \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /parley
COPY . .
RUN node scripts/ensure.mjs

FROM node:22.21.1-bookworm-slim
ENV NODE_ENV=production \
  PARLEY_HOME=/var/lib/parley
RUN install -d -o node -g node /var/lib/parley
WORKDIR /parley
COPY --from=packages /parley /parley
USER node
VOLUME /var/lib/parley
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "packages/cli/bin/parley.mjs"]
CMD ["serve"]
