/** The least contrast of text with its background (WCAG 2.2, 1.4.3). */
const MIN_CONTRAST = 4.5;
/** The amount of black or white that each step mixes in. */
const STEP = 0.05;

const WHITE = '#ffffff';
/** If white is not readable, black is. With a softer black there would be colours on which neither is. */
const INK = '#000000';

/** The backgrounds in the style sheets on which text has the institution's colour. */
const LIGHT_GROUNDS = ['#ffffff', '#f3f4f6', '#e9ecf0'];
const DARK_GROUNDS = ['#1b1f24', '#101317', '#2a3037'];

/** The colours that the pages derive from the institution's colour. */
export interface BrandColours {
  /** The colour itself, used behind `onBrand`. */
  brand: string;
  /** Text on the colour. */
  onBrand: string;
  /** For text and lines in the colour on light backgrounds, darkened until they are readable. */
  accentOnLight: string;
  /** The same for dark backgrounds, lightened. */
  accentOnDark: string;
}

/** @param colour `#rrggbb` */
export function brandColours(colour: string): BrandColours {
  return {
    brand: colour,
    onBrand: contrast(WHITE, colour) >= MIN_CONTRAST ? WHITE : INK,
    accentOnLight: readableOn(colour, LIGHT_GROUNDS),
    accentOnDark: readableOn(colour, DARK_GROUNDS),
  };
}

/** The contrast ratio of two colours `#rrggbb`, 1 to 21 (WCAG 2.2, contrast ratio). */
export function contrast(a: string, b: string): number {
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}

/** A colour that is mixed with black, or with white for dark backgrounds, until text in it is readable on each background. */
function readableOn(colour: string, grounds: string[]): string {
  const towards = luminance(grounds[0] ?? WHITE) > 0.5 ? 0 : 255;
  const readable = (text: string) => grounds.every((ground) => contrast(text, ground) >= MIN_CONTRAST);
  let mixed = colour;
  for (let share = STEP; !readable(mixed) && share <= 1 + STEP; share += STEP)
    mixed = mix(colour, towards, Math.min(share, 1));
  return mixed;
}

function mix(colour: string, towards: number, share: number): string {
  const parts = channels(colour).map((part) => Math.round(part * (1 - share) + towards * share));
  return `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = channels(colour).map((channel) => {
    const part = channel / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function channels(colour: string): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
}
