import { describe, expect, it } from 'vitest'
import { adminAnswer } from './commands/admin.ts'
import { agentsWork } from './commands/agents.ts'
import { providers } from './commands/providers.ts'
import { runsWork } from './commands/runs.ts'
import { groupUsage, HelpAsked, parseCommand, UsageError } from './usage.ts'

const noSettings = () => {
  throw new Error('nobody needs settings to be helped')
}

/** What a command line throws, or rejects with. */
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
  ])('of parley %s is how it looks, and no fault', async (_, work, line) => {
    const thrown = await thrownBy(work)
    expect(thrown).toBeInstanceOf(HelpAsked)
    expect((thrown as HelpAsked).message).toContain(line)
  })

  it('of a part of a group tells that part alone', async () => {
    const thrown = await thrownBy(() => adminAnswer(['org', '--help'], noSettings))
    expect((thrown as HelpAsked).message).toBe('usage:\n  parley admin org create --name NAME\n  parley admin org list')
  })

  it('behind "--" is an argument like any other', () => {
    expect(parseCommand(['--', '--help'], {}, 'parley x').positionals).toEqual(['--help'])
  })
})

it('a group that is asked for nothing it has tells all it has, as a fault', () => {
  const fault = groupUsage('parley x', ['nope'], ['parley x a', 'parley x b'])
  expect(fault).toBeInstanceOf(UsageError)
  expect(fault.message).toBe('usage:\n  parley x a\n  parley x b')
})
