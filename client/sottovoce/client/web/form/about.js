import { element } from "./dom.js";
import { whenInWords } from "./moments.js";

/** What the survey says of itself: what it is for, who has looked at it, what becomes of what is sent. */
export function aboutStudy(words, survey, revision) {
  const { deleteOn, description, notice, researcher } = survey;
  const texts = [description, researcher?.ethics].filter(Boolean).map((text) => words.text("p", text));
  if (notice) texts.push(words.line("h2", "notice_title"), words.text("p", notice));
  if (deleteOn) texts.push(words.line("p", "about_deleted", () => ({ date: whenInWords(deleteOn, words) })));
  if (revision) texts.push(words.line("p", "about_revision", revision));
  return element("div", {}, ...texts);
}
