export { openApiDocument } from './document.ts';
export { errorsOf, type Operation, statusesOf, type Success } from './operation.ts';
export { OPERATIONS } from './operations.ts';
