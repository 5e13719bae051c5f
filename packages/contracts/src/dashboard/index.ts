export * from './errors.ts';
export * from './insights.ts';
export * from './limits.ts';
export { accessText, dashboardDocument } from './openapi.ts';
export { type Access, dashboardErrorsOf, type DashboardOperation } from './operation.ts';
export { DASHBOARD_OPERATIONS, type DashboardOperationId } from './operations.ts';
export * from './payments.ts';
export * from './roles.ts';
