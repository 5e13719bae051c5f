# The local chains of docker-compose.yml (anvil and Solana's runtime), and the program that writes stack.json: the parts
# of `npm start` for which there is no public image. For development only: it runs from source. The ignore file beside
# this one selects the files of the build.
ARG NODE_IMAGE=node:24-slim

FROM ${NODE_IMAGE}
ARG PNPM_VERSION=10.34.9
WORKDIR /app
RUN npm install --global --no-audit --no-fund pnpm@${PNPM_VERSION}
COPY . .
RUN pnpm install --frozen-lockfile --loglevel=info --reporter=append-only \
      --filter '@pf/local...' --filter payment-intent-service \
 && pnpm --filter @pf/database generate \
 && install --directory --owner=1000 --group=1000 /data
# The chains store their blocks here.
VOLUME /data
USER 1000:1000
ENTRYPOINT ["node", "--conditions=source", "--disable-warning=ExperimentalWarning"]
CMD ["infra/local/src/main.ts", "backing"]
