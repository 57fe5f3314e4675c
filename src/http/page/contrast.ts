/** The least contrast of text with its background (WCAG 2.2, 1.4.3). */
const MIN_CONTRAST = 4.5;
/** The least contrast of a shape that one has to see, such as a button, with its background (WCAG 2.2, 1.4.11). */
const MIN_SHAPE_CONTRAST = 3;
/** The amount of black that each step mixes in. */
const STEP = 0.05;
/** The lightness, of 1, that each step adds, and the share of the chroma that it gives up where the screen has no such colour. */
const LIGHTER = 0.01;
const GREYER = 0.05;

const WHITE = '#ffffff';
/** If white is not readable, black is. With a softer black there would be colours on which neither is. */
const INK = '#000000';

/** The backgrounds in the style sheets on which text has the institution's colour. */
const LIGHT_GROUNDS = ['#ffffff', '#f3f4f6', '#e9ecf0'];
const DARK_CARD = '#1b1f24';
const DARK_GROUNDS = [DARK_CARD, '#101317', '#2a3037'];

/** The colours that the pages derive from the institution's colour. */
export interface BrandColours {
  /** The colour itself, used behind `onBrand`. */
  brand: string;
  /** The edge of a button in the colour on light backgrounds: the colour where it stands out, and otherwise a darker one. */
  edgeOnLight: string;
  /** Text on the colour. */
  onBrand: string;
  /** The colour on dark backgrounds, lightened until a button in it stands out, and text on it. */
  brandOnDark: string;
  onBrandOnDark: string;
  /** For text and lines in the colour on light backgrounds, darkened until they are readable. */
  accentOnLight: string;
  /** The same for dark backgrounds, lightened. */
  accentOnDark: string;
}

/** @param colour `#rrggbb` */
export function brandColours(colour: string): BrandColours {
  const brandOnDark = lightened(colour, (lighter) => contrast(lighter, DARK_CARD) >= MIN_SHAPE_CONTRAST);
  const accentOnLight = darkened(colour, (darker) => isReadable(darker, LIGHT_GROUNDS));
  const isSeen = LIGHT_GROUNDS.every((ground) => contrast(colour, ground) >= MIN_SHAPE_CONTRAST);
  return {
    brand: colour,
    edgeOnLight: isSeen ? colour : accentOnLight,
    onBrand: textOn(colour),
    brandOnDark,
    onBrandOnDark: textOn(brandOnDark),
    accentOnLight,
    accentOnDark: lightened(colour, (lighter) => isReadable(lighter, DARK_GROUNDS)),
  };
}

/** The contrast ratio of two colours `#rrggbb`, 1 to 21 (WCAG 2.2, contrast ratio). */
export function contrast(a: string, b: string): number {
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}

function textOn(colour: string): string {
  return contrast(WHITE, colour) >= MIN_CONTRAST ? WHITE : INK;
}

function isReadable(text: string, grounds: string[]): boolean {
  return grounds.every((ground) => contrast(text, ground) >= MIN_CONTRAST);
}

/** A colour that is mixed with black until it is good. */
function darkened(colour: string, isGood: (colour: string) => boolean): string {
  let mixed = colour;
  for (let share = STEP; !isGood(mixed) && share <= 1 + STEP; share += STEP)
    mixed = hex(channels(colour).map((part) => part * Math.max(0, 1 - share)));
  return mixed;
}

/**
 * A colour that is lightened until it is good. Mixed with white, a dark colour would become grey; its hue and its chroma are kept instead,
 * as far as the screen has such a colour.
 */
function lightened(colour: string, isGood: (colour: string) => boolean): string {
  const [lightness, a, b] = toOklab(colour);
  let lighter = colour;
  for (let light = lightness + LIGHTER; !isGood(lighter) && light < 1 + LIGHTER; light += LIGHTER)
    lighter = nearest(Math.min(light, 1), a, b);
  return lighter;
}

/** The colour of the screen with this lightness and hue that has as much of the chroma as it can show. */
function nearest(lightness: number, a: number, b: number): string {
  for (let share = 1; share > 0; share -= GREYER) {
    const linear = fromOklab(lightness, a * share, b * share);
    if (linear.every((part) => part >= 0 && part <= 1)) return hex(linear.map(encoded));
  }
  return hex(fromOklab(lightness, 0, 0).map((part) => encoded(Math.min(1, Math.max(0, part)))));
}

/** Lightness and the two axes of colour in Oklab, where equal steps look equal (https://bottosson.github.io/posts/oklab). */
function toOklab(colour: string): [number, number, number] {
  const [red = 0, green = 0, blue = 0] = linearOf(colour);
  const l = Math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue);
  const m = Math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue);
  const s = Math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

/** The linear red, green and blue of a colour in Oklab; outside 0 to 1 if no screen shows it. */
function fromOklab(lightness: number, a: number, b: number): number[] {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
}

/** A channel of 0 to 255, of a linear part of 0 to 1 (sRGB). */
function encoded(part: number): number {
  return 255 * (part <= 0.0031308 ? 12.92 * part : 1.055 * part ** (1 / 2.4) - 0.055);
}

function linearOf(colour: string): number[] {
  return channels(colour).map((channel) => {
    const part = channel / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = linearOf(colour);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function channels(colour: string): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
}

function hex(parts: number[]): string {
  return `#${parts.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`;
}
