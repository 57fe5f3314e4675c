import type accounts from './app/en/accounts.json';
import type app from './app/en/app.json';
import type approvals from './app/en/approvals.json';
import type decide from './app/en/decide.json';
import type developers from './app/en/developers.json';
import type documents from './app/en/documents.json';
import type exchange from './app/en/exchange.json';
import type files from './app/en/files.json';
import type home from './app/en/home.json';
import type order from './app/en/order.json';
import type payees from './app/en/payees.json';
import type payments from './app/en/payments.json';
import type profile from './app/en/profile.json';
import type settings from './app/en/settings.json';
import type trades from './app/en/trades.json';
import type webhooks from './app/en/webhooks.json';
import type consoleActs from './console/en/acts.json';
import type consoleColumns from './console/en/columns.json';
import type console from './console/en/console.json';
import type consoleFeeds from './console/en/feeds.json';
import type consoleHome from './console/en/home.json';
import type consoleLists from './console/en/lists.json';
import type consolePayment from './console/en/payment.json';
import type consolePeople from './console/en/people.json';
import type consoleRecords from './console/en/records.json';
import type consoleSearch from './console/en/search.json';
import type consoleSystem from './console/en/system.json';
import type consoleWords from './console/en/words.json';
import type design from './shared/en/design.json';
import type faults from './shared/en/faults.json';
import type frame from './shared/en/frame.json';

/** All files of English texts, one line each. English is the source, and a key that it lacks does not compile. */
type AllTexts = typeof accounts &
  typeof app &
  typeof approvals &
  typeof decide &
  typeof developers &
  typeof documents &
  typeof exchange &
  typeof files &
  typeof home &
  typeof order &
  typeof payees &
  typeof payments &
  typeof profile &
  typeof settings &
  typeof trades &
  typeof webhooks &
  typeof consoleActs &
  typeof consoleColumns &
  typeof console &
  typeof consoleFeeds &
  typeof consoleHome &
  typeof consoleLists &
  typeof consolePayment &
  typeof consolePeople &
  typeof consoleSearch &
  typeof consoleRecords &
  typeof consoleSystem &
  typeof consoleWords &
  typeof design &
  typeof faults &
  typeof frame;

export type TextKey = keyof AllTexts;
