import { describe, expect, it } from 'vitest'
import { adminAnswer } from './commands/admin.ts'
import { agentsWork } from './commands/agents.ts'
import { providers } from './commands/providers.ts'
import { runsWork } from './commands/runs.ts'
import { groupUsage, HelpRequested, parseCommand, UsageError } from './usage.ts'

const noSettings = () => {
  throw new Error('--help must not read the settings')
}

/** The error that a command line throws or rejects with; otherwise its result. */
async function thrownBy(work: () => unknown): Promise<unknown> {
  try {
    return await work()
  } catch (error) {
    return error
  }
}

describe('--help', () => {
  it.each([
    ['agents', () => agentsWork(['--help']), 'parley agents import FILE'],
    ['agents publish', () => agentsWork(['publish', '--help']), 'usage: parley agents publish AGENT [--test] [--json]'],
    ['runs', () => runsWork(['-h']), 'parley runs create AGENT'],
    ['runs create', () => runsWork(['create', 'clinic', '--to', '+1', '-h']), 'usage: parley runs create AGENT'],
    ['admin', () => adminAnswer(['help'], noSettings), 'parley admin master-key rotate'],
    ['admin key create', () => adminAnswer(['key', 'create', '--help'], noSettings), 'usage: parley admin key create'],
    ['providers', () => providers(['check', '--help']), 'usage: parley providers check'],
  ])('--help of parley %s shows its usage', async (_, work, line) => {
    const thrown = await thrownBy(work)
    expect(thrown).toBeInstanceOf(HelpRequested)
    expect((thrown as HelpRequested).message).toContain(line)
  })

  it('--help of a command group shows the commands of that group only', async () => {
    const thrown = await thrownBy(() => adminAnswer(['org', '--help'], noSettings))
    expect((thrown as HelpRequested).message).toBe(
      'usage:\n  parley admin org create --name NAME\n  parley admin org list',
    )
  })

  it('--help behind "--" is an ordinary argument', () => {
    expect(parseCommand(['--', '--help'], {}, 'parley x').positionals).toEqual(['--help'])
  })
})

it('an unknown command of a group is an error that lists the commands of the group', () => {
  const fault = groupUsage('parley x', ['nope'], ['parley x a', 'parley x b'])
  expect(fault).toBeInstanceOf(UsageError)
  expect(fault.message).toBe('usage:\n  parley x a\n  parley x b')
})
