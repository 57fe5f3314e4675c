import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { pain002 } from '../../src/iso20022/report.ts';
import {
  type FileEnd,
  groupStatus,
  type PaymentState,
  type Reported,
  type RowState,
  reasonOfFault,
  reportOf,
} from '../../src/iso20022/status.ts';
import { validated } from '../world/iso20022.ts';

const PAYMENT: PaymentState = {
  status: 'Validating beneficiary information',
  invalidated: false,
  returned: false,
  reason: null,
  returnReason: null,
};
const ROW: RowState = { state: 'valid', faults: [], warning: null, payment: null };
const MOVED = 'payment_date: 2026-12-25 is a holiday of EUR; 2026-12-28 is used';
const FAULT = { field: 'iban', code: 'invalid_iban', message: 'must be an IBAN' };

const paid = (payment: Partial<PaymentState>, warning: string | null = null): RowState => ({
  state: 'created',
  faults: [],
  warning,
  payment: { ...PAYMENT, ...payment },
});

describe('the status of a transaction', () => {
  const cancelled: FileEnd = { status: 'Cancelled' };
  const failed: FileEnd = { status: 'Failed', code: 'insufficient_funds', details: 'available 1, needed 2, EUR' };
  const CASES: [string, RowState, string, FileEnd?][] = [
    ['not judged', { ...ROW, state: 'waiting' }, 'PDNG'],
    ['judged', ROW, 'ACCP'],
    ['judged and moved', { ...ROW, warning: MOVED }, 'ACWC DT06'],
    ['bad', { ...ROW, state: 'invalid', faults: [FAULT] }, 'RJCT AC03'],
    ['bad, of a cancelled file', { ...ROW, state: 'invalid', faults: [FAULT] }, 'RJCT AC03', cancelled],
    ['of a cancelled file', ROW, 'CANC DS02', cancelled],
    ['of a failed file', ROW, 'RJCT AM04', failed],
    ['validating', paid({}), 'PDNG'],
    ['more is needed', paid({ status: 'Need more beneficiary information' }), 'PDNG'],
    ['to be approved', paid({ status: 'Payment pending of authorization' }, MOVED), 'PATC'],
    ['waiting', paid({ status: 'Waiting for payment date' }), 'ACCP'],
    ['waiting and moved', paid({ status: 'Waiting for payment date' }, MOVED), 'ACWC DT06'],
    ['executing', paid({ status: 'Executing Payment' }), 'ACSP'],
    ['complete', paid({ status: 'Payment complete' }), 'ACSC'],
    ['rejected', paid({ status: 'Payment rejected', reason: 'no' }), 'RJCT CUST'],
    ['cancelled', paid({ status: 'Payment cancelled' }), 'CANC DS02'],
    ['invalidated', paid({ status: 'Payment cancelled', invalidated: true }), 'RJCT NARR'],
    ['returned', paid({ status: 'Payment cancelled', returned: true, returnReason: 'AC04' }), 'RJCT AC04'],
    ['returned with words', paid({ status: 'Payment cancelled', returned: true, returnReason: 'Closed' }), 'RJCT NARR'],
  ];
  for (const [name, row, expected, end] of CASES)
    test(name, () => {
      const { status, reasons } = reportOf(row, end);
      assert.equal([status, ...reasons.map(({ code }) => code)].join(' '), expected);
    });
});

test('a fault has a code of ISO 20022, and the information begins with ours', () => {
  const codeOf = (code: string, field = '') => reasonOfFault({ code, field, message: 'm' }).code;
  assert.equal(codeOf('required', 'beneficiary_name'), 'BE22');
  assert.equal(codeOf('required', 'beneficiary_city'), 'BE04');
  assert.equal(codeOf('invalid_country', 'beneficiary_country'), 'BE04');
  assert.equal(codeOf('required', 'iban'), 'AC03');
  assert.equal(codeOf('details_disagree', 'bank_code'), 'AC03');
  assert.equal(codeOf('currency_not_allowed', 'payment_currency'), 'AC11');
  assert.equal(codeOf('bic_country_mismatch', 'swift_code'), 'RC07');
  assert.equal(codeOf('invalid_aba', 'bank_code'), 'RC10');
  assert.equal(codeOf('invalid_format', 'payment_amount'), 'AM12');
  assert.equal(codeOf('invalid_format', 'charges'), 'BE19');
  assert.equal(codeOf('already_exists', 'uuid'), 'DU03');
  assert.equal(codeOf('duplicate_row'), 'AM05');
  assert.equal(codeOf('beneficiary_blocked'), 'AG01');
  assert.equal(codeOf('limit_exceeded'), 'AM04');
  assert.equal(codeOf('invalid_format', 'payment_reference'), 'NARR');
  assert.match(reasonOfFault(FAULT).information, /^invalid_iban: iban must be an IBAN$/);
});

test('a group is as far as its least advanced transaction', () => {
  const of = (...statuses: Reported['status'][]) => groupStatus(new Set(statuses));
  assert.equal(of('RJCT'), 'RJCT');
  assert.equal(of('CANC'), 'CANC');
  assert.equal(of('RJCT', 'CANC'), 'PART');
  assert.equal(of('ACSC', 'RJCT'), 'PART');
  assert.equal(of('PATC', 'PDNG', 'ACSC'), 'PDNG');
  assert.equal(of('PATC', 'ACCP'), 'PATC');
  assert.equal(of('ACCP', 'ACWC', 'ACSC'), 'ACWC');
  assert.equal(of('ACWC', 'ACSP'), 'ACWC');
  assert.equal(of('ACCP', 'ACSP'), 'ACCP');
  assert.equal(of('ACSP', 'ACSC'), 'ACSP');
});

test('a report is valid whatever the texts are', () => {
  const unit = fc.oneof(fc.constantFrom('\0', '<', '&', '\r', ']', '>', '𝄞', '\ud800'), fc.constant('a'));
  const message = fc.string({ minLength: 1, maxLength: 200, unit });
  const reason = fc.record({ code: fc.constantFrom('NARR', 'AC03'), information: message });
  fc.assert(
    fc.property(message, fc.array(reason, { maxLength: 3 }), (words, reasons) => {
      const transaction = {
        status: 'RJCT' as const,
        reasons,
        instructionId: words,
        endToEndId: words,
        uetr: null,
        paymentId: words,
      };
      const xml = pain002({
        reportId: words,
        createdAt: '2026-07-01T09:30:00.000Z',
        original: {
          messageId: words,
          message: 'pain.001.001.09',
          createdAt: '2026-07-01T09:30:00',
          count: '1',
          sum: '0.10',
        },
        status: 'PART',
        reasons,
        blocks: [{ id: words, count: '1', sum: '0.1', status: 'RJCT', reasons, transactions: [transaction] }],
      });
      const [found = []] = validated('pain.002.001.10', xml, '//m:StsRsnInf/m:AddtlInf');
      assert.equal(found.length, 3 * reasons.length);
      for (const information of found) assert.ok([...information].length <= 105);
    }),
    { numRuns: 200 },
  );
});

test('what could not be read is not provided', () => {
  const xml = pain002({
    reportId: 'R-1',
    createdAt: '2026-07-01T09:30:00.000Z',
    original: { messageId: undefined, message: undefined },
    status: 'RJCT',
    reasons: [{ code: 'FF01', information: 'invalid_body: the file must be UTF-8' }],
  });
  assert.deepEqual(validated('pain.002.001.10', xml, '//m:OrgnlMsgId', '//m:Rsn/m:Cd'), [['NOTPROVIDED'], ['FF01']]);
});
