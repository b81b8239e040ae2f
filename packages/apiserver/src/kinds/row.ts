// One row of the list of built-in resources, as discovery tells it.

export interface ResourceRow {
  group: string;
  resource: string;
  singular: string;
  kind: string;
  namespaced: boolean;
  shortNames: string[];
  categories: string[];
  verbs: string[];
  subresources: string[];
  /** The definition its objects follow. */
  schema: string;
}
