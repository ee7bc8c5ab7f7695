import { actionSchema } from '@parley/flow/testing'
import { describe, expect, it } from 'vitest'
import { planOf, says } from '../testing/plans.ts'
import { call } from './actions.fixture.ts'
import { runnable } from './runnable-action.ts'

const action = actionSchema.parse({
  kind: 'send_sms',
  action_id: 'text',
  name: 'text',
  sms_content: { type: 'static_text', text: 'Quay 1, {{name}}' },
})
const render = (text: string) => text.replace('{{name}}', 'Ada')
const secret = { id: 'sms', version: '1' }
const from = '+14155552672'

function sent(sms: object | undefined, facts: Partial<typeof call> = {}) {
  const plan = planOf([says('hi', 'Hi')], sms === undefined ? {} : { settings: { sms: sms as never } })
  if (action.kind !== 'send_sms') throw new Error('not a text message')
  return runnable(action, { plan, call: { ...call, ...facts } }, {}, render)
}

describe('a text message', () => {
  it.each([
    [
      { provider: 'twilio', from, account: 'AC1', secret },
      {
        url: 'https://api.twilio.com/2010-04-01/Accounts/AC1/Messages.json',
        body_format: 'form',
        auth: { scheme: 'basic', secret },
      },
      { To: '+14155552671', From: from, Body: 'Quay 1, Ada' },
    ],
    [
      { provider: 'telnyx', from, secret },
      { url: 'https://api.telnyx.com/v2/messages', body_format: 'json', auth: { scheme: 'bearer', secret } },
      { from, to: '+14155552671', text: 'Quay 1, Ada' },
    ],
    [
      { provider: 'generic', from, url: 'https://sms.example.test/send' },
      { url: 'https://sms.example.test/send', auth: null, idempotency: 'effect_key' },
      { from, to: '+14155552671', text: 'Quay 1, Ada' },
    ],
  ])('the service %j is sent the request %j', (sms, request, args) => {
    expect(sent(sms)).toMatchObject({
      request: { kind: 'http', method: 'POST', args_at_root: true, ...request },
      arguments: args,
    })
  })

  it('the message goes to the person at the other end, whoever called', () => {
    const sms = { provider: 'telnyx', from, secret }
    expect(sent(sms, { from_number: from, to_number: '+14155559999' })?.arguments).toMatchObject({ to: '+14155559999' })
  })

  it('nothing can be sent without a service or a number', () => {
    expect(sent(undefined)).toBeUndefined()
    expect(sent({ provider: 'telnyx', from, secret }, { from_number: null, to_number: null })).toBeUndefined()
  })
})
