import { createOrganisation, listOrganisations } from '@parley/store'
import { parseCommand, UsageError } from '../usage.ts'
import { words } from './flag-values.ts'
import type { StaffCommand } from './staff-command.ts'

export const ORG_USAGE = ['parley admin org create --name NAME', 'parley admin org list'] as const
const MAX_NAME = 256

export function orgCreate(args: string[]): StaffCommand {
  const { values, positionals } = parseCommand(args, { name: { type: 'string' } }, ORG_USAGE[0])
  if (positionals.length > 0) throw new UsageError(`usage: ${ORG_USAGE[0]}`)
  const name = words('--name', values.name, MAX_NAME)
  return async tx => ({ answer: await createOrganisation(tx, name), changed: [] })
}

export function orgList(args: string[]): StaffCommand {
  const { positionals } = parseCommand(args, {}, ORG_USAGE[1])
  if (positionals.length > 0) throw new UsageError(`usage: ${ORG_USAGE[1]}`)
  return async tx => ({ answer: { items: await listOrganisations(tx) }, changed: [] })
}
