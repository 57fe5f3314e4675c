/** What somebody does at the institution; src/operator/scope.ts says what each may do. */
export const OPERATOR_ROLES = ['admin', 'core', 'identity', 'support', 'auditor'] as const;
export type OperatorRole = (typeof OPERATOR_ROLES)[number];
