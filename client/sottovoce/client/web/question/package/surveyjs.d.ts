/** Adds the question type `sottovoce` to SurveyJS; give it the module `survey-core`. */
export function registerSottovoceQuestion(surveyCore: { CustomWidgetCollection: unknown; Serializer: unknown }): void;
