export { AddressBuckets } from './address-buckets.ts';
export { addressGroup, sharingGroups, type SharingGroup, SITE_TIMES_OF_FEW, slotsOfAddress } from './address-group.ts';
export { jsonBody, readBody, readBytes } from './body.ts';
export { errorHandler, methodNotAllowed } from './failures.ts';
export {
  Gateway,
  type GatewayCapacity,
  gatewayPath,
  type GatewayRequest,
  type GatewayResponse,
  gatewayUnavailable,
  passBody,
  passHead,
  wantsStream,
} from './gateway.ts';
export { ApiError, type ErrorDetails, HttpError, type HttpErrorOptions, validationFailed } from './http-error.ts';
export { parseJson } from './json-body.ts';
export { bytesOfJson, pageOf, positionOf, readQuery, versionOf } from './pages.ts';
export { type Pass, PASS_SECONDS, readPass, signPass } from './pass.ts';
export { requestLog, shownPath, statusOf } from './request-log.ts';
export { serveApp } from './serve-app.ts';
export { HttpServer } from './server.ts';
export { Slots } from './slots.ts';
export { OpenResponses, writeParts } from './streams.ts';
export { trustProxies } from './trusted-proxies.ts';
export { cachingOf, PRECONDITIONS, requireBuilt, webFiles } from './web-files.ts';
export { write } from './write.ts';
