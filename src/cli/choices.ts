import { InvalidArgumentError, Option } from 'commander';

/** An option that takes some of a closed list, separated by commas. Its value is their array; another word is exit 2. */
export function someOf(flags: string, description: string, values: readonly string[]): Option {
  return new Option(flags, description).choices(values).argParser((text: string) => {
    const given = text.split(',').map((item) => item.trim());
    const wrong = given.find((item) => !values.includes(item));
    if (wrong !== undefined)
      throw new InvalidArgumentError(`"${wrong}" is none of them. Allowed choices are ${values.join(', ')}.`);
    return given;
  });
}
