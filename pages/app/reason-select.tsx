import type { ComponentProps, ReactNode } from 'react';
import { Select } from '../design/field.tsx';
import { useText } from '../texts/text.tsx';
import { REASONS } from './reasons.ts';

/** Why money is paid or exchanged: one of the API's reasons. @param reasons the ones to offer */
export function ReasonSelect({
  reasons = REASONS,
  ...field
}: ComponentProps<typeof Select> & { reasons?: readonly (typeof REASONS)[number][] }): ReactNode {
  const t = useText();
  return (
    <Select {...field}>
      <option value="">{t('payees.choose')}</option>
      {reasons.map((reason) => (
        <option key={reason} value={reason}>
          {t(`payees.reason.${reason}`)}
        </option>
      ))}
    </Select>
  );
}
