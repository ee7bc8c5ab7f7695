import type { LanguageModel } from '@parley/providers'

/** The model, whose tool calls must match the schemas of their tools where its service can guarantee that. */
export function strictModel(model: LanguageModel): LanguageModel {
  return {
    identity: model.identity,
    readiness: () => model.readiness(),
    generate: (request, signal) => {
      const hasTools = request.tools !== undefined && request.tools.length > 0
      return model.generate(hasTools ? { ...request, strictTools: true } : request, signal)
    },
    close: () => model.close(),
  }
}
