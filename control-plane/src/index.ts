export type { Catalogue, CatalogueModel, CatalogueVoice } from './catalogue.ts'
export type { Context, Handlers, HandlersOf, Platform, Principal } from './context.ts'
