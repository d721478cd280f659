"""Format results of data files for a reader: shares of columns, weights, list experiments, several items together."""

from collections.abc import Iterator, Sequence

from sottovoce.aggregator.analysis.result_view import AnswersInWords, Document, ShownAnswer, ShownTable


class DataFilesInWords(AnswersInWords):
    """Formatter of results that only data files have, and of weights."""

    def shares(self, document: Document) -> ShownAnswer:
        """Format the shares and means of columns, those that are corrected for careless people below."""
        questions, mark = document["questions"], self.say("results_corrected")
        corrected = [(each["name"], each["corrected"]) for each in questions if "corrected" in each]
        answered, found = self.say("joint_among_answered"), list[tuple[str, Document, str]]()
        for each in questions:
            among = each.get("among_answered", [])
            found += [(each["name"], one, answered) for one in among]
            found += [(each["name"], one, "") for one in each["estimates"][len(among) :]]
        found += [(name, one, mark) for name, careful in corrected for one in careful["estimates"]]
        column, estimate, reports = map(self.say, ("analyze_column", "models_estimate", "joint_reports"))
        headings = [column, estimate, self.interval(document), reports]
        rows = self.say("analyze_rows", count=document["reports"])
        title = self.say("joint_with_limits", figure=document["file"], limits=rows)
        lines = [self._share(*each) for each in found]
        table = ShownTable(title, headings, lines, sentences=list(self._below_shares(document)))
        return ShownAnswer("", [table], self.notes(document))

    def _share(self, name: str, one: Document, mark: str) -> Sequence[str]:
        show = self.write.percent if one["kind"] == "share" else self.write.figure
        option = self.names.category(name, one["option"])
        if one["kind"] == "mean":
            option = self.say("results_mean")
        elif one["kind"] == "quantile":
            option = self.say("results_quantile", share=self.words.percent(int(option[1:]) / 100, 0))
        label = f"{self.names.label(name)}: {option}"
        label = self.say("joint_with_limits", figure=label, limits=mark) if mark else label
        return label, self.write.point(one["clipped"], show), self.write.limits(one, show), self.words.number(one["n"])

    def _below_shares(self, document: Document) -> Iterator[str]:
        if "careless" in document:
            found, show = document["careless"], self.write.percent
            labels = [self.names.label(each["name"]) for each in found["anchors"]]
            names = "; ".join(self.say("joint_paper_question", question=label) for label in labels)
            limits = self.write.limits(found, show)
            yield self.say("results_careless", share=show(found["clipped"]), limits=limits, questions=names)
        for question in document["questions"]:
            if "shown" in question:
                states = {key: question[key] for key in ("answered", "shown")}
                yield self.say("analyze_answered", column=self.names.label(question["name"]), **states)
        if any(one["low"] is None for question in document["questions"] for one in question["estimates"]):
            yield self.say("results_no_limits")
        yield from self.weighted(document, "joint_deff")

    def weights(self, document: Document) -> ShownAnswer:
        """Format how unequal weights are, and what that costs."""
        lines = [(self.say("joint_reports"), self.words.number(document["n"]))]
        for key, decimals in (("smallest", 3), ("largest", 3), ("deff", 3), ("effective_n", 0)):
            lines.append((self.say(f"data_weights_{key}"), self.words.number(document[key], decimals)))
        return ShownAnswer("", [ShownTable(self.say("data_weights"), ("", ""), lines)], self.notes(document))

    def list_experiment(self, document: Document) -> ShownAnswer:
        """Format the shares of sensitive items, and of each list its means and the test of design effects."""
        every = [document, *document.get("further", ())]
        tables = [table for one in every for table in self._list_tables(one)]
        # One model has the items of all arms.
        tables += [self._list_model(document)] if "model" in document else []
        return ShownAnswer("", tables, list(dict.fromkeys(note for one in every for note in self.notes(one))))

    def _list_tables(self, document: Document) -> Iterator[ShownTable]:
        share, people = document["share"], document["coin_flip"]
        lists = ", ".join(each["column"] for each in document["lists"])
        title = self.say("data_list", treated=document["treated"], lists=lists, file=document["file"], n=document["n"])
        precise = [] if people is None else [self.say("data_list_coins", people=people)]
        yield self._item(title, document, {**share, "shown": share["raw"]}, precise)
        for each in document["lists"]:
            yield self._list(each)
        if "combined" in document:
            yield self._combined(document)

    def _item(self, title: str, document: Document, one: Document, sentences: Sequence[str]) -> ShownTable:
        """Return the share of the sensitive item as a table; one that is no share is marked."""
        name, figure, error, limits = self.line(self.say("data_list_item"), one, self.write.percent, self.write.points)
        if not 0 <= one["shown"] <= 1:
            figure = self.say("joint_with_limits", figure=figure, limits=self.say("data_list_impossible"))
        limits = self.say("data_list_outside") if one["low"] is None else limits
        return ShownTable(title, self.headings(document), [(name, figure, error, limits)], sentences=sentences)

    def _list(self, one: Document) -> ShownTable:
        lines = [
            (self.say(f"data_list_{half['half']}"), self.words.number(half["n"]),
             *(self._thousandths(half[key]) for key in ("mean", "std_error")))
            for half in one["means"]
        ]  # fmt: skip
        sentences = [
            self.say("data_list_revealing", **{key: self.write.percent(one[key]) for key in ("floor", "ceiling")}),
            self.say("data_list_effects", **{key: self.write.p_equals(one[key]) for key in ("p", "p_selected")}),
        ]
        apart = self._thousandths(one["share"]["raw"])
        title = self.say("data_list_column", column=one["column"], items=one["items"], difference=apart)
        headings = [self.say(key) for key in ("tables_group", "joint_among", "results_mean", "models_std_error")]
        return ShownTable(title, headings, lines, sentences=sentences)

    def _combined(self, document: Document) -> ShownTable:
        found, rest = document["combined"], document["combined"]["among_no"]
        known = {"difference": self._thousandths(rest["difference"]), "error": self._thousandths(rest["std_error"])}
        sentences = [self.say("data_list_direct", share=self.write.percent(found["direct"]), **known)]
        for key in ("placebo_one", "placebo_two"):
            sentences.append(self.say(f"data_list_{key}", p=self.write.p_equals(found[key])))
        title = self.say("data_list_combined", n=found["n"])
        return self._item(title, document, {**found, "shown": found["share"]}, sentences)

    def _list_model(self, document: Document) -> ShownTable:
        shares, item = document["model"]["shares"], self.say("data_list_item")
        named = {None: self.say("data_list_others")}
        for one in shares:
            arm = one["treated"]
            named[arm] = self.say("joint_with_limits", figure=item, limits=arm) if len(shares) > 1 else item
        told = [self.say("data_list_odds"), self.say("data_list_independent")]
        found = [(named[one["treated"]], {**one, "shown": one["share"]}) for one in shares]
        return self.class_model(document, found, named, told)

    def _thousandths(self, value: float) -> str:
        return self.write.rounded(value, 3)

    def items(self, document: Document) -> ShownAnswer:
        """Format the trait behind several questions, or the distribution of how many of them are yes."""
        model = self.say(f"models_items_{document['model']}")
        title = self.say("data_items", file=document["file"], model=model, n=document["n"])
        tables = self._sum(title, document) if "distribution" in document else [self._trait(title, document)]
        return ShownAnswer("", tables, self.notes(document))

    def _sum(self, title: str, document: Document) -> list[ShownTable]:
        shares = [(str(place), self.write.percent(each)) for place, each in enumerate(document["distribution"])]
        mean = self.line(self.say("results_mean"), document["mean"], self.write.figure, self.write.figure)
        spread = self.say("data_items_variance", value=self.write.rounded(document["variance"], 4))
        return [
            ShownTable(title, [self.say("models_items_sum"), self.say("models_estimate")], shares),
            ShownTable(self.say("data_items_sum"), self.headings(document), [mean], sentences=[spread]),
        ]

    def _trait(self, title: str, document: Document) -> ShownTable:
        found = [(f"{self.names.label(each['name'])}: {self.say(f'data_items_{key}')}", each[key])
                 for key in ("difficulty", "discrimination") for each in document["items"] if key in each]  # fmt: skip
        found += [(self.say("data_items_spread"), document["sd"])] if document["sd"] else []
        lines = [self.line(name, one, self.write.figure, self.write.figure) for name, one in found]
        sentences = [
            self.likelihood(document),
            self.say("models_points", points=document["points"]),
            self.hypothesis(document["test"]),
            self.say("data_items_scale"),
        ]
        return ShownTable(title, self.headings(document), lines, sentences=sentences)
