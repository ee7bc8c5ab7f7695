import { draftContent } from '@parley/contract'
import { describe, expect, it } from 'vitest'
import { draftEnvironment } from '../testing/draft-environment.ts'
import { providers } from '../testing/flow-harness.ts'
import { planOf } from './publish.ts'
import { fromTemplate, type TemplateName } from './templates.ts'
import { validate } from './validate.ts'

const made = (template: TemplateName, language: 'en' | 'es' = 'en') =>
  fromTemplate(template, { name: 'Ada', language, providers })

describe('an agent made from a template', () => {
  it.each([
    ['phone_outbound', ['phone'], ['greeting conversation', 'goodbye end']],
    ['cloud_task', ['cloud'], ['work conversation', 'done end']],
    ['cloud_chat', ['cloud'], ['chat conversation', 'done end']],
    ['blank', ['cloud', 'phone'], []],
  ] as const)('the template %s has the channels %j and the nodes %j', (template, channels, nodes) => {
    for (const language of ['en', 'es'] as const) {
      const draft = made(template, language)
      expect(draftContent.parse(draft)).toEqual(draft)
      expect(draft.name).toBe('Ada')
      expect(draft.providers).toEqual(providers)
      expect(draft.settings.channels).toEqual(channels)
      expect(draft.settings.language).toBe(language)
      expect(draft.flow.nodes.map(node => `${node.id} ${node.type}`)).toEqual(nodes)
      expect(draft.flow.start_node_id).toBe(draft.flow.nodes[0]?.id ?? null)
    }
  })

  it.each(['phone_outbound', 'cloud_task', 'cloud_chat'] as const)(
    'the template %s can be published unchanged',
    template => {
      for (const language of ['en', 'es'] as const) {
        const published = planOf(made(template, language), draftEnvironment)
        expect(published).toMatchObject({ ok: true, languages: [language] })
        const codes = validate(made(template, language), draftEnvironment).map(({ code }) => code)
        expect(codes).toEqual(template === 'phone_outbound' ? ['telephony_missing'] : [])
      }
    },
  )

  it('only the template phone_outbound waits for the callee to speak first', () => {
    expect(made('phone_outbound').settings.openerWaitsForCallee).toBe(true)
    expect(made('cloud_chat').settings.openerWaitsForCallee).toBeUndefined()
  })

  it('the template blank has no error but its empty flow', () => {
    expect(validate(made('blank'), draftEnvironment).map(({ code, severity }) => `${severity} ${code}`)).toEqual([
      'error flow_empty',
      'warning telephony_missing',
    ])
  })
})
