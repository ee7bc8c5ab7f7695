import { operations } from '@parley/contract'
import { fromTemplate } from '@parley/flow'
import { describe, expect, it } from 'vitest'
import { firstProviders } from '../handlers/agents-first-providers.ts'
import { TEST_CATALOGUE } from '../testing/test-platform.ts'
import { LargeAnswer, largeMembersJson } from './large-answer.ts'

const providers = firstProviders(TEST_CATALOGUE, 'en')
const content = fromTemplate('phone_outbound', { name: 'Ada', language: 'en', providers })
const id = '01a20392-da83-71f6-b529-1de713651ce9'
const head = {
  agent: { tenant_id: id, kind: 'agent', id: 'ada' },
  draft_id: id,
  revision: 1,
  base_version: null,
  published_revision: null,
  updated_at: '2026-01-01T00:00:00.000Z',
}
const whole = operations.find(operation => operation.id === 'drafts.get')!.output
const answerOf = (members: object, rest: string) => new LargeAnswer('drafts.get', { ...members }, rest)

describe('the JSON of a large answer', () => {
  it('a large answer equals the answer checked and serialised as a whole', () => {
    const text = answerOf(head, largeMembersJson('drafts.get', { ...content })).text()
    expect(text).toBe(JSON.stringify(whole.parse({ ...head, ...content })))
  })

  it('fields added to the schema later get their defaults in a stored draft', () => {
    const [node] = content.flow.nodes
    const { name, ...stored } = node!
    const rest = largeMembersJson('drafts.get', { ...content, flow: { ...content.flow, nodes: [stored] } })
    expect(JSON.parse(rest).flow.nodes[0].name).toBe('')
  })

  it('a missing or unknown member in either part of a large answer is rejected', () => {
    const { revision, ...less } = head
    const rest = largeMembersJson('drafts.get', { ...content })
    const broken = (make: () => unknown) => expect(make).toThrow(expect.objectContaining({ code: 'answer_broken' }))
    broken(() => answerOf(less, rest).text())
    broken(() => answerOf({ ...head, name: 'Ada' }, rest).text())
    broken(() => largeMembersJson('drafts.get', { ...content, revision }))
    broken(() => largeMembersJson('drafts.get', { ...content, name: '' }))
    const { flow, ...incomplete } = content
    broken(() => largeMembersJson('drafts.get', incomplete))
  })
})
