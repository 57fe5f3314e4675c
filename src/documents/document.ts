import type { Config } from '../settings/config.ts';
import { type Institution, institutionFrom } from '../settings/institution.ts';
import { StartupError } from '../values/errors.ts';
import { printableJson } from '../values/text.ts';
import { messageOf } from '../values/unknown.ts';
import { drawnMoney } from './currency.ts';
import type { PaymentFacts, TradeFacts } from './facts.ts';
import { Renderer } from './renderer.ts';

/** pi: payment instruction, pr: payment receipt, tr: trade receipt (service interface, GET /documents). */
export type DocumentKind = 'pi' | 'pr' | 'tr';
export const DOCUMENT_KINDS: readonly DocumentKind[] = ['pi', 'pr', 'tr'];

const HEADINGS: Record<DocumentKind, string> = {
  pi: 'Payment instruction',
  pr: 'Payment receipt',
  tr: 'Trade receipt',
};

/** The facts that each kind of document shows. */
export interface DocumentFacts {
  pi: PaymentFacts;
  pr: PaymentFacts;
  tr: TradeFacts;
}

/**
 * Draws a document: A4, with embedded fonts, tagged (PDF/UA-1). The same facts give the same bytes (docs/decisions.md, 5).
 * @throws RenderError if the renderer is full, has stopped or failed
 */
export async function documentPdf<K extends DocumentKind>(
  { renderer, institution }: Drawing,
  kind: K,
  facts: DocumentFacts[K],
): Promise<Buffer> {
  const [id, date] = identity(kind, facts);
  const drawn = {
    kind,
    id,
    // The document's own date, so that a document does not depend on when it is drawn.
    date,
    heading: HEADINGS[kind],
    title: `${HEADINGS[kind]} ${id}`,
    institution: drawnInstitution(institution),
    facts: drawnFacts(facts, kind === 'pr'),
  };
  const data = printableJson(drawn);
  return renderer.draw({
    kind: 'draw',
    template: 'document.typ',
    data,
    tagged: true,
    ...(institution.logo && { logo: institution.logo }),
  });
}

function drawnFacts(facts: PaymentFacts | TradeFacts, receipt: boolean) {
  return 'buy_currency' in facts ? drawnTrade(facts) : drawnPayment(facts, receipt);
}

function identity(kind: DocumentKind, facts: PaymentFacts | TradeFacts): [id: string, date: string] {
  if ('buy_currency' in facts) return [facts.trade_id, facts.order_date];
  return [facts.payment_id, kind === 'pr' ? (facts.sent_date ?? facts.created_date) : facts.created_date];
}

function drawnPayment(facts: PaymentFacts, receipt: boolean) {
  const { amount, payment_currency, fee_amount, fee_currency, approvals, ...rest } = facts;
  return {
    ...rest,
    // An instruction states what was ordered; the receipt states what happened.
    sent_date: receipt ? facts.sent_date : null,
    completed_date: receipt ? facts.completed_date : null,
    amount: drawnMoney(amount, payment_currency),
    fee: fee_amount === null || fee_currency === null ? null : drawnMoney(fee_amount, fee_currency),
    approvals: {
      summary: approvalsSummary(approvals),
      authorisations: approvals.authorisations.map((each) => ({
        ...each,
        level: String(each.level),
        decision: each.status === 1 ? 'Authorised' : 'Rejected',
      })),
    },
  };
}

function approvalsSummary({ workflow, status }: PaymentFacts['approvals']): string {
  if (workflow === null) return 'No approval was needed.';
  return status === null ? `Workflow: ${workflow}.` : `Workflow: ${workflow}. ${status}.`;
}

function drawnTrade(facts: TradeFacts) {
  const { buy_amount, buy_currency, sell_amount, sell_currency, fee_amount, fee_currency, payments, ...rest } = facts;
  return {
    ...rest,
    trade_type: facts.trade_type.replaceAll('_', ' '),
    buy: drawnMoney(buy_amount, buy_currency),
    sell: drawnMoney(sell_amount, sell_currency),
    fee: fee_amount === null || fee_currency === null ? null : drawnMoney(fee_amount, fee_currency),
    payments: payments.map(({ amount, payment_currency, ...payment }) => ({
      ...payment,
      amount: drawnMoney(amount, payment_currency),
    })),
  };
}

/** The institution in the form that templates take. */
export function drawnInstitution(institution: Institution) {
  return {
    name: institution.name,
    address: institution.address,
    colour: institution.colour,
    logo: institution.logo?.path ?? null,
  };
}

/** What is needed to draw documents: the renderer of the process, and the institution that issues them. */
export interface Drawing {
  renderer: Renderer;
  institution: Institution;
}

/** @throws StartupError if the logo cannot be used */
export function createDrawing(config: Config): Drawing {
  try {
    const fontDirectories = config.documentFonts === undefined ? [] : [config.documentFonts];
    return { renderer: new Renderer({ fontDirectories }), institution: institutionFrom(config.institution) };
  } catch (error) {
    throw new StartupError(`LOMBARD_INSTITUTION_LOGO: ${messageOf(error)}`);
  }
}
