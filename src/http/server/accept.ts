/** How much a caller wants a media type (RFC 9110, 12.5.1): the weight of the most specific range that matches it, and how specific that range is. */
interface Wish {
  weight: number;
  exactness: number;
}

const WEIGHT = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

/**
 * Whether a caller prefers another media type to the usual one: it has a higher weight, or the same weight and a more specific range, as in
 * `application/pdf, *\/*`. A caller that accepts everything, or neither, gets the usual type.
 */
export function prefers(accept: string | undefined, other: string, usual: string): boolean {
  const ranges = (accept ?? '*/*').split(',').map(rangeOf);
  const [wanted, known] = [wishFor(ranges, other), wishFor(ranges, usual)];
  if (wanted.weight !== known.weight) return wanted.weight > known.weight;
  return wanted.weight > 0 && wanted.exactness > known.exactness;
}

interface Range {
  type: string;
  weight: number;
}

function rangeOf(text: string): Range {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice('q='.length);
  // An invalid weight counts as 0.
  return { type, weight: weight === undefined ? 1 : WEIGHT.test(weight) ? Number(weight) : 0 };
}

function wishFor(ranges: readonly Range[], type: string): Wish {
  const forms = ['*/*', `${type.split('/', 1)[0]}/*`, type];
  let wish: Wish = { weight: 0, exactness: -1 };
  for (const range of ranges) {
    const exactness = forms.indexOf(range.type);
    if (exactness > wish.exactness) wish = { weight: range.weight, exactness };
  }
  return wish;
}
