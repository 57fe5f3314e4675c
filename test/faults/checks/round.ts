import type { FeedReader } from '../feed-reader.ts';
import type { Known } from '../known.ts';
import type { System } from '../system.ts';

/** What a check looks at, once the callers are silent and everything has recovered. */
export interface Round {
  system: System;
  known: Known;
  reader: FeedReader;
  /** How soon everything has to work again after a fault. */
  recoverySeconds: number;
}
