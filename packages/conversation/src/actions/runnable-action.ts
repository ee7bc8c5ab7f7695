import { type EffectAction, type HttpAction, messageText, type Plan, type SmsAction } from '@parley/flow'
import type { ConversationOptions } from '../conversation-options.ts'
import type { RunnableAction } from '../ports.ts'

type SmsService = NonNullable<Plan['settings']['sms']>

interface Runnable {
  readonly request: RunnableAction
  readonly arguments: Readonly<Record<string, unknown>>
}

/** What a runner is asked to do for an action; undefined: it cannot be done (no service, no server, no number, no words). */
export function runnable(
  action: EffectAction,
  { plan, call }: Pick<ConversationOptions, 'plan' | 'call'>,
  args: Readonly<Record<string, unknown>>,
  render: (template: string) => string,
): Runnable | undefined {
  switch (action.kind) {
    case 'http':
    case 'code':
      return { request: action, arguments: args }
    case 'mcp': {
      const server = plan.flow.mcps?.find(({ id, name }) => id === action.mcp_id || name === action.mcp_id)
      return server === undefined ? undefined : { request: { ...action, server }, arguments: args }
    }
    case 'send_sms': {
      const { sms } = plan.settings
      const text = messageText(action, args, render)
      // A message goes to the person at the other end, whoever called.
      const { from_number: from, to_number: own } = call
      const to = from === null || from === sms?.from ? own : from
      if (sms === undefined || text === null || to === null) return undefined
      return { request: smsRequest(action, sms), arguments: smsArguments(sms, to, text) }
    }
  }
}

const TWILIO = 'https://api.twilio.com/2010-04-01/Accounts'
const TELNYX = 'https://api.telnyx.com/v2/messages'
const SMS_TIMEOUT_MS = 15_000

/** The HTTP request that sends a text message. */
function smsRequest(action: SmsAction, service: SmsService): HttpAction {
  const { action_id, version, name, description, channels, response_variables, speak_after_execution } = action
  const { provider, account = '', url = '', secret } = service
  return {
    action_id,
    version,
    name,
    description,
    channels,
    kind: 'http',
    method: 'POST',
    url: {
      twilio: `${TWILIO}/${encodeURIComponent(account)}/Messages.json`,
      telnyx: TELNYX,
      generic: url,
    }[provider],
    headers: {},
    query: {},
    parameters: {},
    body_format: provider === 'twilio' ? 'form' : 'json',
    args_at_root: true,
    response_variables,
    auth:
      secret === undefined
        ? null
        : { scheme: provider === 'twilio' ? 'basic' : 'bearer', secret, header: 'Authorization' },
    // Telnyx and the generic service take the key; Twilio has none, so a lost answer is uncertain there.
    idempotency: provider === 'twilio' ? 'none' : 'effect_key',
    timeout_ms: SMS_TIMEOUT_MS,
    speak_during_execution: false,
    speak_after_execution,
  }
}

function smsArguments({ provider, from }: SmsService, to: string, text: string): Record<string, string> {
  return provider === 'twilio' ? { To: to, From: from, Body: text } : { from, to, text }
}
