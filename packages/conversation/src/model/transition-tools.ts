import type { Choice, ToolSpec } from '@parley/flow'
import type { ToolDeclaration, TransitionTool } from '@parley/providers'

const NO_PARAMETERS = { type: 'object', properties: {}, required: [], additionalProperties: false }

/** Whether the tool is a transition, by its name and missing parameters, and not an action of the flow. */
export function isTransition({ name, parameters }: ToolDeclaration): boolean {
  return /^go(?:_on)*_[0-9]+$/.test(name) && Object.keys((parameters.properties ?? {}) as object).length === 0
}

/** The choices of a flow as tools of the model: one tool for each choice, described by its condition. */
export class TransitionTools {
  readonly #choiceIds = new Map<string, string>()
  readonly transitions: readonly TransitionTool[]

  /** `others`: tools offered beside the transitions; their names are not used. */
  constructor(choices: readonly Choice[], others: readonly ToolSpec[] = []) {
    const usedNames = new Set(others.map(({ name }) => name))
    let prefix = 'go'
    while (choices.some((_, index) => usedNames.has(`${prefix}_${index + 1}`))) prefix += '_on'
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

  /** The choice of the tool with exactly this name. */
  choiceOf(tool: string): string | undefined {
    return this.#choiceIds.get(tool)
  }
}
