import type { Engine } from '../engine.ts';
import { begin } from './beginning.ts';
import { type File, moveTo } from './file-step.ts';
import { judge } from './judging.ts';
import { make } from './making.ts';

/** How files of payments are worked on. */
export const MASS_PAYMENTS: Engine<File> = {
  name: 'mass-payment',
  table: 'mass_payments',
  id: 'mass_payment_id',
  open: `status in ('Queued for processing', 'Processing', 'Queued for creating', 'Creating') or proceeds`,
  step({ order: file, ...work }) {
    const step = { ...work, file };
    switch (file.status) {
      case 'Queued for processing':
        return moveTo(step, 'Processing');
      case 'Processing':
        return judge(step);
      case 'Processed':
        // A file that was judged goes on without waiting.
        return moveTo(step, 'Queued for creating', { proceeds: false });
      case 'Queued for creating':
        return begin(step);
      case 'Creating':
        return make(step);
      default:
        return Promise.resolve('waits');
    }
  },
};
