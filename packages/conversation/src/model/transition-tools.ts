import type { Choice, ToolSpec } from '@parley/flow'
import type { ToolDeclaration, TransitionTool } from '@parley/providers'

const NO_PARAMETERS = { type: 'object', properties: {}, required: [], additionalProperties: false }

/** Whether a tool of this name, without parameters, is a way on and no tool of the flow's. */
export function isTransition({ name, parameters }: ToolDeclaration): boolean {
  return /^go(?:_on)*_[0-9]+$/.test(name) && Object.keys((parameters.properties ?? {}) as object).length === 0
}

/** The ways on of a flow as tools of the model: one for each, described by its condition. */
export class TransitionTools {
  readonly #choiceIds = new Map<string, string>()
  readonly transitions: readonly TransitionTool[]

  /** `others`: tools offered beside them, whose names are taken. */
  constructor(choices: readonly Choice[], others: readonly ToolSpec[] = []) {
    const taken = new Set(others.map(({ name }) => name))
    let prefix = 'go'
    while (choices.some((_, index) => taken.has(`${prefix}_${index + 1}`))) prefix += '_on'
    this.transitions = choices.map(({ choice_id, condition }, index) => {
      const tool = `${prefix}_${index + 1}`
      this.#choiceIds.set(tool, choice_id)
      return { tool, condition }
    })
  }

  get declarations(): ToolDeclaration[] {
    return this.transitions.map(({ tool, condition }) => {
      return { name: tool, description: condition, parameters: NO_PARAMETERS }
    })
  }

  /** The choice that a tool stands for; the name must be exact. */
  choiceOf(tool: string): string | undefined {
    return this.#choiceIds.get(tool)
  }
}
