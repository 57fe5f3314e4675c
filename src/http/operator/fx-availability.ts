import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import { FX_SETTING, readFxAvailability, setFxAvailability } from '../../exchange/fx-availability.ts';
import { closed } from '../../values/schemas.ts';
import { operation, serve } from '../schemas/operation.ts';
import { errors, jsonAnswer } from '../schemas/schemas.ts';
import { change } from './change.ts';
import { FEED, READ } from './listener.ts';

const FxBody = Type.Object(FX_SETTING.given(), {
  ...closed,
  title: 'FxSettingInput',
  examples: [{ mode: 'auto', holidays: ['2026-12-25'] }],
});
const FxSetting = Type.Object(FX_SETTING.shown, {
  title: 'FxSetting',
  examples: [{ mode: 'auto', holidays: ['2026-12-25'] }],
});
const SET = operation('PUT /fx-availability', {
  config: FEED,
  schema: {
    operationId: 'setFxAvailability',
    tags: ['quotes'],
    summary: 'Set when FX is available',
    body: FxBody,
    response: { 200: jsonAnswer('The setting', FxSetting), ...errors(400, 502) },
  },
});

const READ_ONE = operation('GET /fx-availability', {
  config: READ,
  schema: {
    operationId: 'getFxAvailability',
    tags: ['quotes'],
    summary: 'Read the FX setting',
    response: { 200: jsonAnswer('The setting', FxSetting), ...errors(502, 'invalid_parameter') },
  },
});

export type FxAvailabilityOperations = typeof SET | typeof READ_ONE;

/** When clients can trade FX (docs/operator-interface.md). */
export function operatorFxAvailabilityRoutes(app: FastifyInstance, context: Context): void {
  serve(
    app,
    SET,
    change(context, 200, (tx, act, { body }) => setFxAvailability(tx, act, body)),
  );
  serve(app, READ_ONE, () => readFxAvailability(context.pool));
}
