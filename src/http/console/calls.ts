import type { FastifyRequest } from 'fastify';
import type { Context } from '../../context.ts';
import type { Operator } from '../../operator/operator.ts';
import { PageCalls } from '../page/page-calls.ts';
import { operatorOf, requireStaff } from './session.ts';

/** The institution's pages call the operator interface here, with their cookie in place of a token. */
export const CONSOLE_CALLS = new PageCalls('/console/api');

/** Who makes a call of the pages, and what they may do. @throws Problem as `requireStaff` */
export async function operatorOfCall(context: Context, request: FastifyRequest): Promise<Operator> {
  return operatorOf(context, await requireStaff(context, request));
}
