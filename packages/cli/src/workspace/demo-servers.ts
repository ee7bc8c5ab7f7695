import type { AnsweringPhoneOptions } from '@parley/phone'
import type { Settings } from '../environment.ts'
import { addressOf } from './address-of.ts'
import { type BuiltInPhone, builtInPhone } from './built-in-phone.ts'
import { type HomeExampleServer, openExampleServer } from './home-example-server.ts'

/** The callbacks of the built-in phone. */
export type PhoneEvents = Pick<AnsweringPhoneOptions, 'onCall' | 'onStep'>

/** The servers on this machine that the agents of the demo workspace use. */
interface DemoServers {
  /** Receives the HTTP actions and webhooks of the agents. */
  readonly examples: HomeExampleServer
  /** Null if it was not requested. */
  readonly phone: BuiltInPhone | null
  /** The given settings, extended so that the process can reach both. */
  readonly settings: Settings
  close(): Promise<void>
}

interface DemoServersOptions {
  /** Whether to open the phone. Only an engine can call it. */
  readonly phone: boolean
  readonly phoneEvents?: PhoneEvents
}

/** Opens the servers. Do this first in a process, and build everything else from the returned `settings`. */
export async function openDemoServers(settings: Settings, options: DemoServersOptions): Promise<DemoServers> {
  const examples = await openExampleServer(settings.home)
  const phone = options.phone ? await builtInPhone(settings, options.phoneEvents).catch(closing(examples)) : null
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

function closing(examples: HomeExampleServer): (error: unknown) => Promise<never> {
  return async error => {
    await examples.close()
    throw error
  }
}
