import { createHash } from 'node:crypto';
import { brandColours } from './contrast.ts';

/** The style of all pages in the institution's colour, and its hash for the content security policy. */
export function styleOf(colour: string): { css: string; hash: string } {
  const { brand, edgeOnLight, onBrand, brandOnDark, onBrandOnDark, accentOnLight, accentOnDark } = brandColours(colour);
  const css = `
:root { --brand: ${brand}; --brand-edge: ${edgeOnLight}; --on-brand: ${onBrand}; --accent: ${accentOnLight}; --page: #f3f4f6; --card: #ffffff;
  --text: #16191d; --quiet: #555d69; --line: #868e9a; --soft: #e3e6ea; --bad: #a4161a; --bad-page: #fdecec; --good: #14532d; --good-page: #e8f5ec; }
@media (prefers-color-scheme: dark) {
  :root { --brand: ${brandOnDark}; --brand-edge: ${brandOnDark}; --on-brand: ${onBrandOnDark}; --accent: ${accentOnDark};
    --page: #101317; --card: #1b1f24; --text: #eef0f3; --quiet: #a9b1bc; --line: #7b8490;
    --soft: #2d333b; --bad: #ffb3b3; --bad-page: #3a1a1c; --good: #a7e3bd; --good-page: #14301f; }
}
* { box-sizing: border-box; }
html { font: 100%/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; -webkit-text-size-adjust: 100%; }
body { margin: 0; min-height: 100vh; min-height: 100dvh; display: flex; flex-direction: column; background: var(--page); color: var(--text); }
header { border-top: .375rem solid var(--brand); }
header, footer { padding: 1.25rem 1.5rem; }
.mark { display: flex; align-items: center; justify-content: center; gap: .75rem; font-weight: 600; font-size: 1.0625rem;
  max-width: 26rem; margin: 0 auto; }
.mark span { flex: none; display: grid; place-items: center; width: 2.25rem; height: 2.25rem; border-radius: .625rem;
  background: var(--brand); color: var(--on-brand); }
.mark img { max-height: 2.5rem; max-width: 14rem; }
@media (prefers-color-scheme: dark) { .mark img { background: #fff; border-radius: .125rem; box-shadow: 0 0 0 .25rem #fff; } }
main { flex: 1; width: 100%; max-width: 26rem; margin: 0 auto; padding: 1rem; }
.card { background: var(--card); border: 1px solid var(--soft); border-radius: 1rem; padding: 2rem;
  box-shadow: 0 1px 2px rgb(0 0 0 / .05), 0 12px 32px -12px rgb(0 0 0 / .14); }
a { color: var(--accent); text-underline-offset: .15em; }
h1 { margin: 0; font-size: 1.5rem; line-height: 1.25; letter-spacing: -.01em; overflow-wrap: anywhere; }
h1 + p { margin: .375rem 0 1.5rem; color: var(--quiet); overflow-wrap: anywhere; }
label { display: block; margin: 1.125rem 0 .375rem; font-weight: 600; font-size: .9375rem; }
input { width: 100%; min-height: 3rem; padding: .625rem .875rem; font: inherit; color: inherit; background: var(--card);
  border: 1px solid var(--line); border-radius: .625rem; }
input:focus-visible, button:focus-visible, a:focus-visible, summary:focus-visible { outline: .1875rem solid var(--accent); outline-offset: .125rem; }
input[aria-invalid="true"] { border-color: var(--bad); border-width: 2px; }
input.digits { font-variant-numeric: tabular-nums; font-size: 1.5rem; letter-spacing: .35em; text-align: center; }
.hint { margin: .375rem 0 0; font-size: .875rem; color: var(--quiet); }
button { width: 100%; min-height: 3rem; margin-top: 1.5rem; padding: .625rem 1rem; font: inherit; font-weight: 600; cursor: pointer;
  border-radius: .625rem; border: 1px solid var(--brand-edge); background: var(--brand); color: var(--on-brand); }
button:hover { filter: brightness(1.12); }
button.second { margin-top: .75rem; background: transparent; color: var(--accent); border-color: var(--line); }
.said { margin: 0 0 1.25rem; padding: .75rem 1rem; border-radius: .625rem; border-left: .25rem solid; font-size: .9375rem; }
.bad { color: var(--bad); background: var(--bad-page); border-color: var(--bad); }
.good { color: var(--good); background: var(--good-page); border-color: var(--good); }
details { margin-top: 1.5rem; font-size: .875rem; color: var(--quiet); }
summary { cursor: pointer; }
code { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; overflow-wrap: anywhere; }
footer { text-align: center; font-size: .8125rem; color: var(--quiet); overflow-wrap: anywhere; }
details p, .card > p:last-child { margin-bottom: 0; }
@media (min-width: 31rem) and (min-height: 44rem) { header { padding-top: 7vh; } }
@media (max-width: 30rem) { main { padding: 0 .75rem; } .card { padding: 1.5rem; } }
@media (forced-colors: active) { button { border-color: currentColor; } }
`;
  return { css, hash: `sha256-${createHash('sha256').update(css).digest('base64')}` };
}
