/** Creating a format takes a hundred times as long as using it, and table rows share the same few. So each one is created once. */
const made = new Map<string, Intl.DateTimeFormat | Intl.NumberFormat>();

/** Like `new Intl.DateTimeFormat`. */
export function dateFormat(locale: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  return once(`date ${locale} ${JSON.stringify(options)}`, () => new Intl.DateTimeFormat(locale, options));
}

/** Like `new Intl.NumberFormat`. */
export function numberFormat(locale: string, options: Intl.NumberFormatOptions): Intl.NumberFormat {
  return once(`number ${locale} ${JSON.stringify(options)}`, () => new Intl.NumberFormat(locale, options));
}

function once<Format extends Intl.DateTimeFormat | Intl.NumberFormat>(key: string, make: () => Format): Format {
  const format = (made.get(key) as Format | undefined) ?? make();
  made.set(key, format);
  return format;
}
