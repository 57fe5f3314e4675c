/** The words of approvals that records, rules and descriptions share (docs/decisions.md, 4). */

/** The workflows of eyes: how many distinct approvers other than the creator each needs. */
export const EYES = { simple: 0, '4-eyes': 1, '6-eyes': 2, '8-eyes': 3, '10-eyes': 4 } as const;
export type AuthorisationWorkflow = keyof typeof EYES;
export const AUTHORISATION_WORKFLOWS = Object.keys(EYES) as AuthorisationWorkflow[];

/** How far the approval of a payment is. */
export const APPROVAL_STATUSES = ['Pending approval', 'Approved', 'Rejected', 'Cancelled'] as const;
