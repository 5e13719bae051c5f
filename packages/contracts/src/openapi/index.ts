export { openApiDocument, type OpenApiDocument } from './document.ts';
