import { systemRandom } from '@parley/kernel'
import { createStaffKey } from '@parley/store'
import { parseCommand, UsageError } from '../usage.ts'
import { oneOf, words } from './flag-values.ts'
import { ENV_OPTION, inEnvironment, type StaffCommand } from './staff-command.ts'

export const KEY_USAGE = 'parley admin key create --name NAME --role viewer|member|admin [--can-dial] [--env TENANT_ID]'
const MAX_NAME = 128
const OPTIONS = {
  ...ENV_OPTION,
  name: { type: 'string' },
  role: { type: 'string' },
  'can-dial': { type: 'boolean', default: false },
} as const

export function keyCreate(args: string[]): StaffCommand {
  const { values, positionals } = parseCommand(args, OPTIONS, KEY_USAGE)
  if (positionals.length > 0) throw new UsageError(`usage: ${KEY_USAGE}`)
  const name = words('--name', values.name, MAX_NAME)
  const role = oneOf('--role', values.role, ['viewer', 'member', 'admin'])
  const can_dial = values['can-dial']
  if (can_dial && role === 'viewer')
    throw new UsageError('--can-dial needs --role member or admin: a viewer cannot dial')
  return inEnvironment(values.env, async (tx, scope) => {
    const key = await createStaffKey(tx, scope, { name, role, can_dial }, systemRandom)
    return { answer: { tenant_id: scope.tenant_id, ...key }, changed: [['keys', key.key_id]] }
  })
}
