export { failed, summarize } from './report.ts';
export { drill } from './run.ts';
