/** The contents of a pain.002 from the service, which writes its elements without prefixes and attributes. */
export interface Report {
  /** MsgId of the file. */
  messageId: string;
  /** GrpSts. */
  status: string;
  /** The refused blocks. */
  refused: { payment_information_id: string; code: string }[];
}

const BLOCK = '<OrgnlPmtInfAndSts>';

export function readReport(pain002: string): Report {
  const [head = '', ...blocks] = pain002.split(BLOCK);
  return {
    messageId: textOf(head, 'OrgnlMsgId'),
    status: textOf(head, 'GrpSts'),
    refused: blocks
      .filter((block) => textOf(block, 'PmtInfSts') === 'RJCT')
      .map((block) => ({ payment_information_id: textOf(block, 'OrgnlPmtInfId'), code: textOf(block, 'Cd') })),
  };
}

function textOf(xml: string, name: string): string {
  const [, after = ''] = xml.split(`<${name}>`, 2);
  const [content = ''] = after.split('<', 1);
  return content.replace(/&(?:lt|gt|quot|amp|#13);/g, (entity) => ENTITIES[entity] ?? entity);
}

const ENTITIES: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&amp;': '&', '&#13;': '\r' };
