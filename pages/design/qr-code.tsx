import type { ReactNode } from 'react';
import { encode } from 'uqr';

/** A QR code, black on white in both themes, because cameras need the contrast. */
export function QrCode({ text, name }: { text: string; name: string }): ReactNode {
  const { data, size } = encode(text, { ecc: 'M', border: 2 });
  const path = data.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : ''))).join('');
  return (
    <svg className="qr-code" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={name} shapeRendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}
