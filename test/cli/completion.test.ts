import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { lombard } from '../world/command.ts';

async function script(shell: string): Promise<string> {
  const { code, stdout, stderr } = await lombard(['completion', shell], {}).ended;
  assert.equal(code, 0, stderr);
  return stdout;
}

test('bash: commands, options and values, behind what was typed', async () => {
  const complete = `${await script('bash')}
    for line in "$@"; do
      read -ra COMP_WORDS <<<"$line"
      [[ $line == *' ' ]] && COMP_WORDS+=('')
      COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
      _lombard
      echo "\${COMPREPLY[*]}"
    done`;
  const lines = [
    'lombard pay',
    'lombard payments ',
    'lombard payments list --st',
    'lombard statements request --format ',
    'lombard completion ',
    'lombard --profile production payments app',
    'lombard approvals config ',
  ];
  const [pay, payments = '', status, formats, shells, approve, config = ''] = execFileSync(
    'bash',
    ['-c', complete, 'bash', ...lines],
    {
      encoding: 'utf8',
    },
  ).split('\n');
  assert.deepEqual([pay, status, formats, approve], ['payments', '--status', 'pdf csv camt.053', 'approve']);
  assert.match(payments, /^list show create approve reject cancel .*--json/);
  assert.match(shells as string, /bash zsh fish/);
  assert.match(config, /^get set /);
});

for (const shell of ['zsh', 'fish'])
  test(`${shell}: names every command with its description, and its syntax is right`, async () => {
    const text = await script(shell);
    for (const name of ['payments', 'listen', 'doctor', 'serve', 'completion'])
      assert.match(text, new RegExp(shell === 'zsh' ? `'${name}:[a-z]` : `-a ${name} -d '[a-z]`), name);
    if (spawnSync('which', [shell]).status !== 0) return;
    const { status, stderr } = spawnSync(shell, ['-n'], { input: text, encoding: 'utf8' });
    assert.deepEqual([status, stderr], [0, '']);
  });

test('an unknown shell is exit 2', async () => {
  assert.equal((await lombard(['completion', 'csh'], {}).ended).code, 2);
});
