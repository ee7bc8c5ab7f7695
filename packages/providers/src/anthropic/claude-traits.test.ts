import { describe, expect, it } from 'vitest'
import { traitsOf } from './claude-traits.ts'

describe('the traits of a Claude model', () => {
  it.each([
    ['claude-3-haiku-20240307', true, true, 'nothing'],
    ['claude-3-5-sonnet-latest', true, true, 'nothing'],
    ['claude-opus-4-20250514', true, true, 'nothing'],
    ['claude-sonnet-4-5-20250929', true, true, 'nothing'],
    ['claude-haiku-4-5', true, true, 'nothing'],
    ['claude-opus-4-6', true, true, 'nothing'],
    ['claude-opus-4-7', false, true, 'nothing'],
    ['claude-opus-4-8', false, true, 'nothing'],
    ['claude-opus-5', false, true, 'disabled'],
    ['claude-sonnet-5', false, true, 'disabled'],
    ['claude-haiku-5-5', false, true, 'disabled'],
    ['anthropic/claude-sonnet-5.5', false, false, 'between-tools'],
    ['claude-opus-5-5', false, false, 'low-effort'],
    ['us.anthropic.claude-opus-5-5-v1:0', false, false, 'low-effort'],
    ['claude-fable-5', false, false, 'low-effort'],
    ['claude-mythos-preview', false, false, 'nothing'],
    ['claude-next', false, false, 'nothing'],
    ['glm-4.7', true, true, 'nothing'],
  ])('the traits of a Claude model follow from the model name "%s"', (model, takesTemperature, canBeForced, haste) => {
    expect(traitsOf(model)).toMatchObject({ takesTemperature, canBeForced, haste })
  })

  it('models since 4.5 guarantee the arguments of strict tools', () => {
    expect(['claude-haiku-4-5', 'claude-opus-5-5'].map(model => traitsOf(model).takesStrictTools)).toEqual([true, true])
    expect(['claude-3-5-haiku', 'claude-next', 'glm-4.7'].some(model => traitsOf(model).takesStrictTools)).toBe(false)
  })
})
