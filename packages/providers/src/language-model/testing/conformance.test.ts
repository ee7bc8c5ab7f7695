import { describe, expect, it } from 'vitest'
import { ToolCallAssembly } from '../tool-call-assembly.ts'
import { languageModelConformance } from './conformance.ts'
import { scriptedModel } from './scripted-model.ts'

languageModelConformance('of the tests', scriptedModel)

describe('tool calls in fragments', () => {
  it('tool calls in fragments get a unique id when the service sends none or repeats one', () => {
    const tools = new ToolCallAssembly()
    for (const [index, id] of ['', '', 'a', 'a'].entries()) tools.begin(index, id, 'weather')
    const ids = tools.complete().map(event => (event.type === 'tool-call' ? event.call.id : ''))
    expect(new Set(ids).size).toBe(4)
    expect(ids).toContain('a')
    expect(ids).not.toContain('')
  })

  it('tool calls in fragments fail when they are malformed or exceed the size limit', () => {
    const broken = expect.objectContaining({ code: 'model_failed' })
    expect(() => new ToolCallAssembly().append(0, '{')).toThrow(broken)
    const tools = new ToolCallAssembly()
    tools.begin(0, 'a', 'weather')
    expect(() => tools.begin(0, 'b', 'weather')).toThrow(broken)
    expect(() => {
      for (let i = 0; i < 1000; i++) tools.append(0, ' '.repeat(1000))
    }).toThrow(broken)
  })
})
