# One image for every process of Polygraph: what a container runs is its command.
#
#   docker build -t polygraph .
#   docker run -p 127.0.0.1:4000:4000 -e POLYGRAPH_SECRET_KEY="$(openssl rand -base64 32)" polygraph
#
# No secret is in the image: keys and addresses come by environment when it runs.

FROM node:24-slim AS modules
WORKDIR /app
COPY package.json package-lock.json ./
# The base image brings Node 24, so the copy that the registry has for older machines goes.
RUN npm ci --omit=dev --no-fund --no-audit \
 && rm -rf node_modules/node-linux-* node_modules/.bin/node \
 && npm cache clean --force

FROM node:24-slim
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=4000 \
    POLYGRAPH_DATA=/data \
    MALLOC_ARENA_MAX=2
WORKDIR /app
COPY --from=modules /app/node_modules ./node_modules
COPY package.json ./
COPY schema ./schema
COPY resolvers ./resolvers
COPY subgraphs ./subgraphs
COPY gateway ./gateway
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 4000
# Ready means that the store of each service in the process answers.
HEALTHCHECK --interval=5s --timeout=5s --start-period=60s --retries=5 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "--disable-warning=ExperimentalWarning", "--max-semi-space-size=16", "--expose-gc"]
CMD ["gateway/start.ts"]
