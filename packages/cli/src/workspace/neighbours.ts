import type { AnsweringPhoneOptions } from '@parley/phone'
import type { Settings } from '../environment.ts'
import { addressOf } from './address-of.ts'
import { type BuiltInPhone, builtInPhone } from './built-in-phone.ts'
import { type ExampleServerOf, exampleServerOf } from './example-server-of.ts'

/** What the demo workspace's agents talk to on this machine. */
export interface Neighbours {
  /** Takes the agents' requests and webhooks. */
  readonly examples: ExampleServerOf
  /** Null where none was asked for. */
  readonly phone: BuiltInPhone | null
  /** The settings with the ways to both: what the process is composed of instead of those that were given. */
  readonly settings: Settings
  close(): Promise<void>
}

interface NeighboursOptions {
  /** Whether the phone is opened: where an engine is that can call it. */
  readonly phone: boolean
  readonly told?: Pick<AnsweringPhoneOptions, 'onCall' | 'onStep'>
}

/** Opens them before anything else of a process: everything else is composed of `settings` as they come back. */
export async function openNeighbours(settings: Settings, options: NeighboursOptions): Promise<Neighbours> {
  const examples = await exampleServerOf(settings.home)
  const phone = options.phone ? await builtInPhone(settings, options.told).catch(closing(examples)) : null
  return {
    examples,
    phone,
    settings: {
      ...settings,
      egressAllow: [...settings.egressAllow, addressOf(examples)],
      resolve: [...settings.resolve, ...(phone === null ? [] : [phone.override])],
    },
    async close() {
      await phone?.close()
      await examples.close()
    },
  }
}

function closing(examples: ExampleServerOf): (error: unknown) => Promise<never> {
  return async error => {
    await examples.close()
    throw error
  }
}
